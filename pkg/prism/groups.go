package prism

// Groups are the options of a question in groups of at most size, without the one that insufficient_information adds. The options that
// name a group are one, and those that name none are one, in the order of their first options. A group of more than size is split into as
// few as possible, whose sizes differ by at most 1 (spec: option-groups).
func (q Question) Groups(size int) (groups [][]Option) {
	var names []string
	named := map[string][]Option{}
	for _, o := range q.Options {
		if _, ok := named[o.Group]; !ok {
			names = append(names, o.Group)
		}
		named[o.Group] = append(named[o.Group], o)
	}
	for _, name := range names {
		options := named[name]
		for parts := (len(options) + size - 1) / size; parts > 0; parts-- {
			n := (len(options) + parts - 1) / parts
			groups, options = append(groups, options[:n:n]), options[n:]
		}
	}
	return groups
}
