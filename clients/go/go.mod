module carabiner

go 1.19
