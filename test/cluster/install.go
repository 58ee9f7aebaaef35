package cluster

import (
	"context"
	"fmt"
	"slices"
)

// installation is what the operators' projects ship, as far as the options ask for it.
type installation struct {
	operators   []operator
	definitions []Object   // all CRDs
	objects     [][]Object // everything, by operator
	apiServices []Object
}

// plan reads what a bed with these options installs.
func (b *Bed) plan() (*installation, error) {
	kueueComponent := Kueue
	if b.options.Kueue == KueueV1beta1 {
		kueueComponent = KueueOld
	}
	kueueShipped, err := b.load(kueueComponent)
	if err != nil {
		return nil, err
	}
	config, err := kueueConfig(kueueShipped.config, b.options)
	if err != nil {
		return nil, err
	}
	kueueShipped.setConfig(config)
	in := &installation{
		operators:   []operator{b.kueue(config)},
		objects:     [][]Object{slices.DeleteFunc(kueueShipped.objects, b.options.without)},
		apiServices: kueueShipped.apiServices,
	}
	if !b.options.KueueOnly || b.options.AllKinds {
		trainingShipped, err := b.load(TrainingOperator)
		if err != nil {
			return nil, err
		}
		mpiShipped, err := b.load(MPIOperator)
		if err != nil {
			return nil, err
		}
		if b.options.KueueOnly { // the kinds without their operators
			for _, o := range slices.Concat(trainingShipped.objects, mpiShipped.objects) {
				if isDefinition(o) {
					in.objects[0] = append(in.objects[0], o)
				}
			}
		} else {
			extra, err := parseObjects(hyperPodPyTorchJobCRD)
			if err != nil {
				return nil, err
			}
			in.operators = append(in.operators, b.trainingOperator(), b.mpiOperator())
			in.objects = [][]Object{append(in.objects[0], extra...), trainingShipped.objects, mpiShipped.objects}
		}
	}
	if b.options.AllKinds {
		extra, err := parseObjects(notebookCRD)
		if err != nil {
			return nil, err
		}
		in.objects[0] = append(in.objects[0], extra...)
	}
	for _, c := range b.options.More {
		o, err := b.optional(c)
		if err != nil {
			return nil, err
		}
		s, err := b.load(c)
		if err != nil {
			return nil, err
		}
		in.operators, in.objects = append(in.operators, o), append(in.objects, s.objects)
		in.objects[0] = without(in.objects[0], s.objects)
	}
	for _, o := range slices.Concat(in.objects...) {
		if isDefinition(o) {
			in.definitions = append(in.definitions, o)
		}
	}
	return in, nil
}

// startOperators installs their objects, starts them and waits until their webhooks answer.
func (b *Bed) startOperators(ctx context.Context, in *installation, progress func(string)) error {
	operators, objects := in.operators, in.objects
	b.operators = operators
	homes := make([]*thread, len(operators))
	var installs []func() error
	for i := range operators {
		home, err := newThread(true)
		if err != nil {
			return err
		}
		homes[i] = home
		b.threads = append(b.threads, homes[i])
		more, err := b.operatorObjects(&operators[i], homes[i])
		if err != nil {
			return err
		}
		installs = append(installs, func() error {
			return b.install(ctx, append(slices.DeleteFunc(slices.Clone(objects[i]), isDefinition), more...))
		})
	}
	if err := parallel(installs...); err != nil {
		return fmt.Errorf("cannot install the operators' manifests: %w", err)
	}
	if err := b.waitServed(ctx, in.definitions); err != nil {
		return err
	}
	progress("manifests installed")

	var waits []func() error
	for i, o := range operators {
		// Kueue sets up the kinds that are served when it starts, so all CRDs had to come first.
		p, err := b.startOperator(ctx, o, homes[i])
		if err != nil {
			return err
		}
		waits = append(waits, func() error {
			if err := b.waitOperator(ctx, o, p, homes[i]); err != nil {
				return err
			}
			return p.waitReady(ctx, func(ctx context.Context) error { return b.caBundles(ctx, objects[i]) })
		})
	}
	if err := parallel(waits...); err != nil {
		return err
	}
	progress("operators ready")
	return b.waitWebhooks(ctx, in.apiServices)
}
