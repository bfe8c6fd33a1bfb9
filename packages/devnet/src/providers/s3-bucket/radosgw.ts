// A real S3 store: Ceph's gateway on a one-machine cluster that keeps everything in memory. It is in Debian's packages
// radosgw, ceph-mon, ceph-mgr and ceph-osd.

import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../free-port.ts'
import { type Credentials, signedHeaders } from './signature.ts'

interface Radosgw {
  url: string
  bucket: string
  credentials: Credentials
  stop(): Promise<void>
}

const BUCKET = 'svc-test'

/** Null when it is not installed. */
export async function startRadosgw(): Promise<Radosgw | null> {
  const tools = ['radosgw', 'radosgw-admin', 'ceph', 'ceph-mon', 'ceph-osd', 'ceph-mgr']
  if (tools.some((tool) => spawnSync(tool, ['--version']).status !== 0)) return null
  const folder = await mkdtemp(join(tmpdir(), 'svc-radosgw-'))
  const [monitorPort, port] = [await freePort(), await freePort()]
  const [cluster, disk] = [randomUUID(), randomUUID()]
  await writeFile(join(folder, 'ceph.conf'), configuration(folder, cluster, monitorPort, port))
  const credentials = { accessKeyId: 'svctest', secretAccessKey: randomUUID(), region: 'us-east-1' }
  const variables = {
    CEPH_CONF: join(folder, 'ceph.conf'),
    MONITOR: `[v2:127.0.0.1:${monitorPort}]`,
    CLUSTER: cluster,
    DISK: disk,
    ID: credentials.accessKeyId,
    SECRET: credentials.secretAccessKey,
  }
  const shell = spawn('sh', ['-ec', SCRIPT], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...variables },
    stdio: ['pipe', 'pipe', 'inherit'],
    // Ctrl-C in a terminal must not end the shell that cleans up.
    detached: true,
  })
  const [line] = await Promise.race([once(createInterface(shell.stdout), 'line'), once(shell, 'exit')])
  if (line !== 'ready') throw new Error('radosgw did not start')
  const url = `http://127.0.0.1:${port}`
  const bucketUrl = new URL(`${url}/${BUCKET}`)
  const made = await fetch(bucketUrl, {
    method: 'PUT',
    headers: signedHeaders('PUT', bucketUrl, credentials, new Date()),
  })
  if (!made.ok) throw new Error(`radosgw did not create the bucket: ${made.status} ${await made.text()}`)
  return {
    url,
    bucket: BUCKET,
    credentials,
    async stop() {
      shell.stdin.end()
      await once(shell, 'exit')
    },
  }
}

/** When its standard input closes, because this process ended, it stops and removes everything. */
const SCRIPT = `
servers=
trap 'kill -9 $servers; wait; cd /; rm -rf "\${CEPH_CONF%/*}"' EXIT
{
  ceph-authtool -C keyring -g -n mon. --cap mon 'allow *'
  ceph-authtool keyring -g -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *'
  ceph-authtool keyring -g -n osd.0 --cap mon 'allow profile osd' --cap mgr 'allow profile osd' --cap osd 'allow *'
  ceph-authtool keyring -g -n mgr.x --cap mon 'allow profile mgr' --cap osd 'allow *'
  ceph-authtool keyring -g -n client.rgw --cap mon 'allow rw' --cap osd 'allow rwx'
  monmaptool --create --addv a "$MONITOR" --fsid "$CLUSTER" monmap
  mkdir mon osd mgr run
  ceph-mon -i a --mkfs --monmap monmap --keyring keyring
  ceph-mon -i a -f & servers="$servers $!"
  ceph osd new "$DISK"
  ceph-osd -i 0 --mkfs --osd-uuid "$DISK"
  ceph-osd -i 0 -f & servers="$servers $!"
  ceph-mgr -i x -f & servers="$servers $!"
  radosgw -n client.rgw -f & servers="$servers $!"
  radosgw-admin user create --uid svc --display-name svc --access-key "$ID" --secret "$SECRET"
} >log 2>&1
until grep -q 'starting handler: beast' client.rgw.log; do sleep 0.2; done
echo ready
cat
`

function configuration(folder: string, cluster: string, monitorPort: number, port: number): string {
  return `
[global]
fsid = ${cluster}
mon host = v2:127.0.0.1:${monitorPort}
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = ${folder}/keyring
run dir = ${folder}/run
log file = ${folder}/$name.log
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
mon allow pool size one = true
mon data avail crit = 1
osd pool default size = 1
osd pool default pg num = 1
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
[mon.a]
mon data = ${folder}/mon
[osd.0]
osd data = ${folder}/osd
[mgr.x]
mgr data = ${folder}/mgr
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:${port}
`
}
