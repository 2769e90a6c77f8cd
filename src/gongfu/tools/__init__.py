"""What a tool is: its protocol, schema, registry and output bounds."""
