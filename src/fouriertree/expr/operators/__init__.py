"""The built-in operators, a file for each family; an entry says everything the package knows about its operator."""
