"""GQA: questions about one image, made from any scene graphs, that say more than they must.

For example, of a graph with a black cat on a mat: "Is the cat that is on the mat black?", yes,
verify(unique(filter(related(find(mat), on), name=cat)), color=black); there is no other cat, so "on the mat"
is redundant.

Hudson and Manning, GQA: a new dataset for real-world visual reasoning and compositional question answering,
2019; the forms and words are ours.
"""
