# SPDX-License-Identifier: Apache-2.0
# Checks of the sources themselves, as tests.
