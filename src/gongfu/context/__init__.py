"""What a request carries: units, their price in tokens, the budget and the layout."""
