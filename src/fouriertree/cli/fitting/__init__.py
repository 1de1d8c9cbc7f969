"""What `fouriertree fit` is made of: options and what is wrong with them, columns, rows kept aside, what it writes."""
