"""Questions over one scene graph, as GQA asks them: programs, words, and what could be left unsaid."""
