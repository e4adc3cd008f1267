#!/bin/sh
# Puts Plurality {{ version }} on a bare Debian 12 as services, from this folder and that of the program. Run it as root:
#   sh install.sh /path/to/plurality
# It may be run again: the secrets and the list of people that are there stay. What it would do, without doing it: DRY=1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=${1:?the folder of the program}
do_() { echo "+ $*"; [ -n "${DRY:-}" ] || "$@"; }
in_program() { echo "+ $1"; [ -n "${DRY:-}" ] || (cd {{ asked.program }} && sh -c "$1"); }

[ -f "$source/app.py" ] || { echo "$source is not the folder of the program." >&2; exit 2; }

echo "1. Packages of the system"
do_ apt-get update -q
do_ apt-get install -y -q --no-install-recommends {{ steps.packages }}{{ " postgresql-client" if asked.database }}

echo "2. A user without rights, and its folders"
id plurality >/dev/null 2>&1 || do_ useradd --system --home-dir {{ asked.home }} --shell /usr/sbin/nologin plurality
do_ install -d -m 0755 {{ asked.program }}
do_ install -d -m 0700 -o plurality -g plurality {{ asked.home }} /var/cache/plurality /var/backups/plurality
do_ install -d -m 0750 -o root -g plurality /etc/plurality

echo "3. A backup and the program of before, where an earlier version is there; plurality-undo goes back to them"
if [ -x /usr/local/bin/plurality ] && [ -x {{ asked.program }}/.venv/bin/python ] && [ ! -e {{ asked.program }}/.upgrading ]; then
    backup=/var/backups/plurality/before-$(date -u +%Y-%m-%dT%H%M%S).backup
    do_ /usr/local/bin/plurality backup "$backup"
    do_ rm -rf "{{ asked.program }}/.before"
    do_ install -d -m 0755 "{{ asked.program }}/.before"
    # Links: packages that the new version does not change take no further room, and pip never writes into a file.
    do_ cp -al "{{ asked.program }}/.venv" "{{ asked.program }}/.before/.venv"
    do_ tar -cPf "{{ asked.program }}/.before/places.tar" /etc/systemd/system/plurality* /usr/local/bin/plurality /etc/haproxy/haproxy.cfg
    do_ sh -c "echo $backup > {{ asked.program }}/.before/backup"
    do_ touch "{{ asked.program }}/.upgrading"    # removed at the end: a second try keeps what the first one saved
fi

echo "4. The program and its packages, whose hashes are checked"
for part in {{ steps.parts }}; do
    # Replaced whole: what a new version does not have any more must not stay.
    do_ rm -rf "{{ asked.program }}/.new-$part"
    do_ cp -R "$source/$part" "{{ asked.program }}/.new-$part"
    if [ -d "{{ asked.program }}/.before" ] && [ -e "{{ asked.program }}/$part" ] && [ ! -e "{{ asked.program }}/.before/$part" ]; then
        do_ mv "{{ asked.program }}/$part" "{{ asked.program }}/.before/$part"
    else
        do_ rm -rf "{{ asked.program }}/$part"
    fi
    do_ mv "{{ asked.program }}/.new-$part" "{{ asked.program }}/$part"
done
in_program "[ -x .venv/bin/python ] || {{ steps.environment }}"
in_program "{{ steps.install }}"
{% if asked.database %}
in_program "{{ steps.postgres }}"
{% endif %}

echo "5. Settings"
for file in plurality.env secrets.toml people.toml; do
    [ -e "/etc/plurality/$file" ] || do_ install -m 0640 -o root -g plurality "$here/$file" "/etc/plurality/$file"
done
if [ ! -e {{ asked.certificate }} ]; then
    echo "   No certificate at {{ asked.certificate }}: one of our own is made, which browsers warn of. Put yours there."
    do_ sh -c 'umask 077; d=$(mktemp -d); openssl req -x509 -newkey rsa:2048 -nodes -days 90 -subj "/CN={{ asked.name }}" \
        -addext "subjectAltName=DNS:{{ asked.name }}" -keyout "$d/key" -out "$d/chain" 2>/dev/null \
        && cat "$d/chain" "$d/key" > {{ asked.certificate }}; rm -r "$d"'
fi

echo "6. Services"
for file in plurality@.service plurality.target plurality-kernels.service plurality-backup.service plurality-sign.service \
    plurality-failed@.service plurality-backup.timer; do
    do_ install -m 0644 "$here/$file" "/etc/systemd/system/$file"
done
for file in plurality plurality-undo; do
    do_ install -m 0755 "$here/$file" "/usr/local/bin/$file"
done
do_ install -m 0644 "$here/haproxy.cfg" /etc/haproxy/haproxy.cfg
do_ haproxy -c -q -f /etc/haproxy/haproxy.cfg
do_ systemctl daemon-reload
do_ systemctl enable plurality-backup.timer plurality.target{% for port in asked.ports %} plurality@{{ port }}.service{% endfor %}

do_ rm -f {{ asked.program }}/.upgrading

if [ -n "${DRY:-}" ] || grep -q '^client_id = ""' /etc/plurality/secrets.toml; then
    echo "Fill in /etc/plurality/secrets.toml and /etc/plurality/people.toml, check the latter with: plurality people"
    echo "If your provider never sends the claim email_verified, set PLURALITY_EMAIL_TRUSTED=1 in /etc/plurality/plurality.env"
    echo "Then run: systemctl restart plurality.target haproxy plurality-backup.timer"
else
    do_ systemctl restart plurality-kernels.service    # of a new version; the processes go on meanwhile
    do_ systemctl restart plurality.target haproxy plurality-backup.timer
    echo "Plurality is at {{ asked.origin }}"
fi
