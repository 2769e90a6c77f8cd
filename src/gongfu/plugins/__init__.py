"""What others bring: servers of the Model Context Protocol, folders of modes and commands."""
