"""The programs around Baton, one folder for each purpose. Nothing that is deployed imports them."""
