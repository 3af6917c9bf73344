module openclaw

go 1.26
