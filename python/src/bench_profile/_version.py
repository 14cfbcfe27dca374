# SPDX-License-Identifier: Apache-2.0
"""The version of this package, which is that of `bench`; a test compares both."""

__version__ = "0.1.0"
