from pages.shared.cache.session import visit

__all__ = ["visit"]
