# Sums samples of jobs, for comparison with a report: the device-seconds that each team and owner used, borrowed and
# waited for. Input is a line for each job of each sample, in order of time:
#
#   time job team owner devices phase since borrowed
#
# Times are Unix seconds; phase is H (has quota), E (ended) or another one, in which it waits. Between two samples a job
# is in the earlier phase up to the begin of the later one. A job that is gone ended with its last sample.

function add(job, seconds,    names, i) {
	names[1] = "total"; names[2] = team[job]; names[3] = owner[job]
	for (i = 1; i <= 3; i++) {
		if (phase[job] == "H") {
			used[names[i]] += devices[job] * seconds
			borrowed[names[i]] += more[job] * seconds
		} else if (phase[job] != "E") {
			waited[names[i]] += devices[job] * seconds
		}
		seen[names[i]] = 1
	}
}

{
	job = $2
	from = $7
	if (job in at) {
		if ($7 > at[job]) {
			add(job, $7 - at[job])
		} else {
			from = at[job]
		}
	}
	team[job] = $3; owner[job] = $4; devices[job] = $5; phase[job] = $6; more[job] = $8
	add(job, $1 - from)
	at[job] = $1
}

END {
	for (name in seen)
		printf "%s %.0f %.0f %.0f\n", name, used[name], borrowed[name], waited[name]
}
