// The page of "hyperpod dashboard --web". It puts text into the document with textContent only.
'use strict';
(() => {
  const id = (name) => document.getElementById(name);
  const make = (name, attributes, ...children) => {
    const e = name === 'svg' || name === 'rect' || name === 'polyline' ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
    for (const [k, v] of Object.entries(attributes || {})) if (v !== undefined && v !== false) e.setAttribute(k, v);
    e.append(...children);
    return e;
  };
  const page = 200; // rows shown at first, and added by the button
  const tabs = []; // what the server sent, by position
  const view = []; // what the reader chose in each tab: filter, sort, shown
  let chosen = Math.max(0, parseInt(location.hash.slice(1), 10) || 0);

  const units = { s: 1, m: 60, h: 3600, d: 86400, w: 604800, y: 31536000 };
  // size orders numbers and ages; undefined is a text, such as an address of a node.
  const size = (text) => {
    if (/^-?[0-9]+([.][0-9]+)?$/.test(text)) return Number(text);
    if (/^([0-9]+[smhdwy])+$/.test(text)) return text.match(/[0-9]+[smhdwy]/g).reduce((n, p) => n + parseInt(p, 10) * units[p.slice(-1)], 0);
  };
  const compare = (a, b) => {
    const x = size(a), y = size(b);
    if (x !== undefined && y !== undefined) return (x > y) - (x < y);
    if (x !== undefined || y !== undefined) return x !== undefined ? -1 : 1;
    return a.localeCompare(b);
  };

  const bar = (values, longest) => {
    const whole = values[5] || longest || 1;
    const svg = make('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true', focusable: 'false' });
    let x = 0;
    values.slice(0, 5).forEach((v, i) => {
      const width = 100 * v / whole;
      if (v > 0) svg.append(make('rect', { x, y: 0, width, height: 10, class: 'b' + i }));
      x += width;
    });
    return svg;
  };
  const spark = (values) => make('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', class: 'spark', 'aria-hidden': 'true', focusable: 'false' },
    make('polyline', { points: values.map((v, i) => `${values.length > 1 ? 100 * i / (values.length - 1) : 0},${(9.5 - 9 * v).toFixed(2)}`).join(' ') }));

  const rows = (tab, v) => {
    let keys = tab.keys;
    const not = v.filter.startsWith('!'), word = v.filter.replace(/^!/, '').toLowerCase();
    if (word) keys = keys.filter((k) => tab.rows.get(k).some((c) => (c.x || '').toLowerCase().includes(word)) !== not);
    if (v.sort >= 0) {
      keys = keys.slice().sort((a, b) => compare((tab.rows.get(a)[v.sort] || {}).x || '', (tab.rows.get(b)[v.sort] || {}).x || '') * v.way);
    }
    return keys;
  };

  const row = (tab, key, longest) => {
    const tr = make('tr', {});
    tab.columns.forEach((column, i) => {
      const c = tab.rows.get(key)[i] || {};
      const td = make(i ? 'td' : 'th', { scope: i ? undefined : 'row', class: [column.right ? 'right' : '', column.yield ? 'yield' : '', (c.x || '').length > 48 ? 'long' : '', c.s ? 's' + c.s : ''].filter(Boolean).join(' ') || undefined });
      if (c.b) td.append(bar(c.b, longest));
      else if (c.p) td.append(spark(c.p));
      else if (!i && tab.commands.length) {
        const button = make('button', { type: 'button', 'aria-haspopup': 'dialog' }, c.x || '');
        button.addEventListener('click', () => show(tab, key, c.x));
        td.append(button);
      } else td.textContent = c.x || '';
      tr.append(td);
    });
    return tr;
  };

  const draw = () => {
    const tab = tabs[chosen], v = view[chosen];
    if (!tab) return;
    id('summary').textContent = tab.summary;
    id('caption').textContent = tab.name;
    const focus = document.activeElement && document.activeElement.dataset.focus;
    id('head').replaceChildren(make('tr', {}, ...tab.columns.map((column, i) => {
      const th = make('th', { scope: 'col', class: [column.right ? 'right' : '', column.yield ? 'yield' : ''].filter(Boolean).join(' ') || undefined, 'aria-sort': v.sort === i ? (v.way > 0 ? 'ascending' : 'descending') : undefined });
      if (column.plain) th.append(make('span', { class: 'hidden' }, column.title || 'chart'));
      else {
        const button = make('button', { type: 'button', 'data-focus': 'sort' + i }, column.title + (v.sort === i ? (v.way > 0 ? ' ↑' : ' ↓') : ''));
        button.addEventListener('click', () => {
          if (v.sort !== i) [v.sort, v.way] = [i, 1];
          else if (v.way > 0) v.way = -1;
          else v.sort = -1;
          draw();
        });
        th.append(button);
      }
      return th;
    })));
    const keys = rows(tab, v), shown = keys.slice(0, v.shown);
    let longest = 0;
    for (const k of tab.keys) for (const c of tab.rows.get(k)) if (c.b) longest = Math.max(longest, c.b.slice(0, 5).reduce((a, b) => a + b, 0));
    // A row that has not changed stays, and with it the focus.
    const body = id('body'), old = new Map(Array.from(body.children, (tr) => [tr.dataset.key, tr]));
    const next = shown.map((k) => {
      const text = JSON.stringify(tab.rows.get(k)) + longest, was = old.get(chosen + k);
      if (was && was.dataset.text === text) return was;
      const tr = row(tab, k, longest);
      const held = was && was.contains(document.activeElement);
      tr.dataset.key = chosen + k;
      tr.dataset.text = text;
      if (held) queueMicrotask(() => { const b = tr.querySelector('button'); if (b) b.focus(); });
      return tr;
    });
    if (!next.length) next.push(make('tr', {}, make('td', { colspan: tab.columns.length }, v.filter ? 'no row has ' + v.filter : tab.empty)));
    let changed = next.length !== body.children.length;
    for (let i = 0; i < next.length && !changed; i++) changed = body.children[i] !== next[i];
    if (changed) {
      const at = document.activeElement;
      body.replaceChildren(...next);
      if (at && body.contains(at)) at.focus({ preventScroll: true });
    }
    if (focus) { const e = document.querySelector(`[data-focus="${focus}"]`); if (e) e.focus(); }
    id('rest').hidden = keys.length <= shown.length;
    id('count').textContent = `${shown.length} of ${keys.length} rows.`;
    id('legend').replaceChildren(...tab.bars.flatMap((name, i) => name ? [make('span', { class: 'key b' + i }), make('span', {}, name)] : []));
  };

  const choose = (i, focus) => {
    chosen = (i + tabs.length) % tabs.length;
    history.replaceState(null, '', '#' + chosen);
    Array.from(id('tabs').children, (b, at) => {
      b.setAttribute('aria-selected', String(at === chosen));
      b.tabIndex = at === chosen ? 0 : -1;
      if (at === chosen && focus) b.focus();
    });
    id('panel').setAttribute('aria-labelledby', 'tab' + chosen);
    id('filter').value = view[chosen].filter;
    draw();
  };

  const titles = () => {
    if (id('tabs').children.length === tabs.length) return;
    id('tabs').replaceChildren(...tabs.map((t, i) => {
      const b = make('button', { type: 'button', role: 'tab', id: 'tab' + i, 'aria-controls': 'panel' }, t.name);
      b.addEventListener('click', () => choose(i, true));
      return b;
    }));
    choose(Math.min(chosen, tabs.length - 1));
  };

  id('tabs').addEventListener('keydown', (e) => {
    const to = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: tabs.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    choose(to, true);
  });
  id('filter').addEventListener('input', () => {
    if (!view[chosen]) return;
    view[chosen].filter = id('filter').value;
    view[chosen].shown = page;
    draw();
  });
  id('more').addEventListener('click', () => { view[chosen].shown += page; draw(); });
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || id('dialog').open || /^(INPUT|TEXTAREA)$/.test(e.target.tagName)) return;
    if (e.key === '/') { e.preventDefault(); id('filter').focus(); }
    if (/^[1-9]$/.test(e.key) && Number(e.key) <= tabs.length) choose(Number(e.key) - 1, true);
  });

  let asked = 0;
  const show = (tab, key, name) => {
    const dialog = id('dialog'), text = id('dialog-text');
    id('dialog-title').textContent = name;
    const load = async (command) => {
      const mine = ++asked;
      text.textContent = 'loading';
      for (const b of id('choices').children) b.setAttribute('aria-pressed', String(b.textContent === command));
      let answer;
      try {
        const r = await fetch('show?' + new URLSearchParams({ tab: String(tabs.indexOf(tab)), row: key, command }), { credentials: 'same-origin', redirect: 'error' });
        answer = await r.text();
      } catch {
        answer = 'no connection to the dashboard';
      }
      if (mine === asked) text.textContent = answer;
    };
    id('choices').replaceChildren(...tab.commands.map((command) => {
      const b = make('button', { type: 'button' }, command);
      b.addEventListener('click', () => load(command));
      return b;
    }));
    dialog.showModal();
    load(tab.commands[0]);
  };
  id('close').addEventListener('click', () => id('dialog').close());

  let last = null, connected = true;
  const status = () => {
    const e = id('status');
    let text = last ? last.lost || last.cluster : 'reading the cluster';
    if (!connected) text = last ? 'The dashboard does not answer: the figures are old.' : 'The dashboard does not answer. Start it again in the terminal.';
    if (e.textContent !== text) e.textContent = text; // a screen reader reads each change
    e.className = !connected || last && last.lost ? 'lost' : '';
    id('time').textContent = last ? 'Figures of ' + new Date(last.time).toLocaleTimeString() : '';
  };
  const stream = new EventSource('events');
  stream.onerror = () => { connected = false; status(); };
  stream.onmessage = (e) => {
    const m = JSON.parse(e.data);
    connected = true;
    last = { time: m.lost && last ? last.time : m.time, lost: m.lost, cluster: m.cluster };
    id('note').textContent = m.note || '';
    m.tabs.forEach((t) => {
      const tab = tabs[t.index] || (tabs[t.index] = { rows: new Map(), keys: [] });
      view[t.index] = view[t.index] || { filter: '', sort: -1, way: 1, shown: page };
      if (t.whole) { tab.rows.clear(); tab.keys = []; }
      Object.assign(tab, { name: t.name, summary: t.summary, columns: t.columns, empty: t.empty || '', bars: t.bars || [], commands: t.commands || [] });
      for (const [k, cells] of Object.entries(t.rows || {})) tab.rows.set(k, cells);
      if (t.keys) {
        tab.keys = t.keys;
        const now = new Set(t.keys);
        for (const k of tab.rows.keys()) if (!now.has(k)) tab.rows.delete(k);
      }
    });
    titles();
    status();
    draw();
  };
})();
