"""The templates of questions about several images, one a file; a file's name is the template's."""
