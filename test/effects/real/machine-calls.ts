// Calls of programs for keys, disks, accounts, services, packages, databases and other machines. In the sandbox there is no
// network, no service and no right to change the machine, so most of them fail, and may still write files. `§` is a path.

import { lines } from './templates.js'

export const MACHINE = lines(String.raw`
  gpg --dearmor §
  gpg --enarmor §
  gpg --store §
  gpg --batch --yes -o § --store §
  gpg --output new.gpg --enarmor §
  gpg -o new.gpg --dearmor < §
  gpg --print-md sha256 §
  gpg --list-packets §
  gpg --list-keys
  gpg --import §
  gpg --export > §
  gpg --export -a --output §
  gpg --homedir dir --list-keys
  gpg --no-default-keyring --keyring ./new.kbx --list-keys
  gpg --verify § §
  gpg --batch --yes --store --multifile § §
  gpg --decrypt §
  gpg -d -o § §
  wget -q -O § http://localhost/x
  wget -qO- http://localhost/x > §
  wget -q -o § http://localhost/x
  wget -a § http://localhost/x
  wget -nv --output-file=new.log http://localhost/x
  wget -q -P new http://localhost/x
  wget -q --save-cookies § http://localhost/
  wget -q --post-file=§ http://localhost/
  wget -q -i §
  wget -q --input-file=list
  wget -qO new.txt -i list
  wget -q --load-cookies § http://localhost/
  wget -q --warc-file=new http://localhost/
  curl -s -o § http://localhost/
  curl -sT § http://localhost/
  curl -s -d @§ http://localhost/
  curl -s -K § http://localhost/
  curl -s -c § http://localhost/
  curl -s --trace § http://localhost/
  curl -s --stderr § http://localhost/
  curl -s -F f=@§ http://localhost/
  ssh -o BatchMode=yes -E § localhost true
  ssh -F § -o BatchMode=yes localhost
  ssh -i § -o BatchMode=yes localhost
  ssh -G -F § localhost
  sftp -q -b § localhost
  ssh-keygen -y -f §
  ssh-keygen -R localhost -f §
  ssh-keygen -F localhost -f §
  ssh-keygen -H -f §
  ssh-keygen -q -t rsa -b 1024 -N '' -f §
  ssh-keygen -i -f §
  ssh-keygen -e -f §
  ssh-keygen -B -f §
  ssh-keygen -p -N x -f §
  psql -c 'select 1' -o §
  psql -f §
  psql -L § -c 'select 1'
  psql < §
  pg_restore -f § §
  pg_restore -l §
  dropdb x
  sqlite3 § .dump > §
  sqlite3 new.db '.import list t'
  ninja -n
  ninja -f § -n
  ninja -C dir -n
  ninja -t targets
  mke2fs -q -F §
  mke2fs -qF § 64
  mke2fs -n -F §
  truncate -s 256K new.img; mke2fs -q -F new.img
  truncate -s 256K new.img; mkfs -t ext2 -q new.img
  truncate -s 256K new.img; mke2fs -qF -d dir new.img
  mkswap §
  mkswap -f §
  truncate -s 64K new.img; mkswap new.img
  wipefs §
  wipefs -a §
  wipefs -n -a §
  truncate -s 64K new.img; mkswap new.img; wipefs -a --backup new.img
  badblocks -o § new.img
  truncate -s 16K new.img; badblocks -w new.img
  blkdiscard §
  swapoff §
  chattr +i §
  chattr -R +a dir
  chcon -t x §
  setcap cap_net_raw+ep §
  mount --bind dir empty
  mount -t tmpfs x §
  umount §
  umount -l §
  gio trash §
  gio remove §
  gio remove -f § §
  gio copy § §
  gio move § §
  gio rename § new.txt
  gio mkdir §
  gio mkdir -p new/deep
  gio save § < a.txt
  gio cat §
  gio info §
  gio list dir
  gio tree dir
  gio set § unix::mode 384
  echo x | gio save -a §
  useradd dev
  usermod -aG docker dev
  userdel -r dev
  groupadd x
  passwd -S
  passwd -d root
  chpasswd < §
  chsh -s /bin/sh
  gpasswd -a root root
  su -c 'touch new'
  su root -c 'rm -f a.txt'
  runuser -u root -- touch new
  kill -0 $$
  kill -l
  sleep 1 & kill $!
  pkill -f no-such-program
  killall -q no-such-program
  skill no-such-program
  systemctl status x
  systemctl stop x
  systemctl --user enable ./a.txt
  systemctl cat x
  service x stop
  service --status-all
  sysctl -n kernel.ostype
  sysctl -p §
  sysctl -a
  dpkg -x § empty
  dpkg --contents §
  dpkg -i §
  dpkg -l
  dpkg -b dir
  dpkg -e § new
  dpkg --fsys-tarfile § > §
  zless §
  red -s § <<< $'1d\nw'
  red -s a.txt <<< $'w new.txt'
  history -w §
  history -a §
  history -r §
  HISTFILE=new.txt history -w
`)

/** They take a tenth of a second and more. */
export const SLOW = lines(String.raw`
  jar cf new.jar §
  jar -c -f § dir
  jar xf f.zip
  jar tf §
  jar uf f.zip §
  jar --create --file=new.jar §
  jar --extract --file f.zip
  jar cfM § §
  jar cf new.jar -C dir x.txt
  yq . §
  yq -y . §
  yq -i . §
  yq -yi . §
  yq -y -i . § §
  apt-get install -y x
  apt-get download x
  pip --version
  pip install --no-index -r §
  pip install --no-index --target § nope
  pip download --no-index -d new nope
  pip install --no-index ./dir
  pip hash §
  pip config set global.timeout 1
  pip --log § list
  npm init -y
  npm pkg set a=b
  npm config set fund false
  npm pack --offline
  npm install --offline ./dir
  npm run x
  npx --no nope
  go version
  go mod init x
  go env -w GOFLAGS=-mod=mod
  go env GOPATH
  go mod init x && go mod edit -go=1.18
  go build -o new §
  elixir -e 'File.rm("a.txt")'
  elixir -e 'File.write("new.txt", "x")'
  elixir -e 'IO.puts(File.read!("b.txt"))'
  elixir -e 'System.cmd("touch", ["new"])'
  erl -noshell -eval 'file:delete("a.txt"), halt().'
  erl -noshell -eval 'file:write_file("new.txt", "x"), halt().'
  erl -noshell -eval 'os:cmd("touch new"), halt().'
`)
