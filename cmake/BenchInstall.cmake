# SPDX-License-Identifier: Apache-2.0
# cmake --install and the Debian package.
