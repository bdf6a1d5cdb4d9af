#!/usr/bin/env bash
# Installs the wheel of DIST as its users do, in a Debian that has nothing but Python, and runs the Python tests there.
#   tools/test_wheel.sh DIST BARE    as root; BARE is made the first time, by debootstrap, and kept
#   SUITE=trixie tools/…             in another Debian, with the Python of that; MIRROR: where debootstrap gets it from
set -euo pipefail
dist=$1 bare=$2-${SUITE:=bookworm}
source=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" -eq 0 ] || { echo "test_wheel: run as root: it makes a Debian of its own and changes its root to there" >&2; exit 1; }

if [ ! -e "$bare/ready" ]; then
  rm -rf "$bare"
  debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$SUITE" "$bare" ${MIRROR:+"$MIRROR"} >/dev/null
  touch "$bare/ready"
fi
if find "$bare" -xdev -not -path "$bare/home/*" -name '*.so*' | grep -E '/lib(openblas|blas|lapack|tbb|hwy|fmt|gfortran|quadmath|fansite)[.-]'; then
  echo "test_wheel: these are in $bare, so it would not show what the wheel lacks; remove that folder" >&2
  exit 1
fi

# What the tests read, and the way to the package index: certificates, and how names are looked up.
home=$bare/home/user
rm -rf "$home"
mkdir -p "$home/dist" "$home/python/fansite"
cp "$dist"/fansite-*.whl "$home/dist"
cp -r "$source/python/tests" "$source/python/tools" "$home/python"
cp "$source/python/fansite/_parameters.py" "$home/python/fansite"  # held against the methods' own lists
cp -r "$source/bench" "$source/docs" "$source/examples" "$source/README.md" "$source/pyproject.toml" "$home"
cp /etc/resolv.conf /etc/hosts "$bare/etc"
cp /etc/ssl/certs/ca-certificates.crt "$bare/etc/ssl/certs"

cat >"$home/run.sh" <<'END'
set -eu
cd /home/user
python3 -m venv venv
# Of the wheels for several Pythons, pip takes the one for this.
venv/bin/python -m pip install --quiet --disable-pip-version-check --no-index --find-links dist --no-deps fansite
venv/bin/python -m pip install --quiet --disable-pip-version-check "fansite[test]"
FANSITE_DIST=dist venv/bin/python -m pytest -p no:cacheprovider --ignore python/tests/test_sdist.py python/tests
END
# Mounts of its own, which end with it.
unshare --mount sh -c 'bare=$1
  mount -t proc proc "$bare/proc"
  mount -t tmpfs tmpfs "$bare/dev/shm"
  mount -t tmpfs tmpfs "$bare/tmp"
  exec chroot "$bare" /usr/bin/env -u PIP_FIND_LINKS HOME=/home/user PATH=/usr/sbin:/usr/bin:/sbin:/bin sh /home/user/run.sh' - "$bare"
