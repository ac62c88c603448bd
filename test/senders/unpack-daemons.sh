#!/bin/sh
# Unpacks Debian's syslog-ng and rsyslog, with what they need and is not installed, into a folder of these tests.
# Nothing is installed, and no rights are needed: the daemon of the machine stays what it is, and the two, of
# which a machine may have one, stand beside each other.
set -eu
cd "$(dirname "$0")"
rm -rf debian debian.part
mkdir -p debian.part/lists/partial debian.part/archives/partial
# Lists of its own: those of the machine may be old, or not there, and are not ours to write.
options="-o Dir::State::lists=$PWD/debian.part/lists -o Dir::Cache=$PWD/debian.part -o Debug::NoLocking=1 -o APT::Sandbox::User= -q"
# shellcheck disable=SC2086
apt-get $options update
for packages in 'syslog-ng-core syslog-ng-mod-http' 'rsyslog rsyslog-elasticsearch'; do
  # shellcheck disable=SC2086
  apt-get $options install --yes --reinstall --download-only --no-install-recommends $packages
done
for archive in debian.part/archives/*.deb; do dpkg-deb --extract "$archive" debian.part; done
rm -rf debian.part/lists debian.part/archives debian.part/*.bin
mv debian.part debian
