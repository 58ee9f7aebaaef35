module hyperpod.test/stern

go 1.26.2

require github.com/stern/stern v1.34.0
