"""Steps that questions share with what ends them."""
