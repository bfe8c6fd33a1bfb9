// `npm run test:storage-real`: the suite of all storage drivers on real services that can be started here: Ceph's S3
// gateway, from Debian's packages radosgw, ceph-mon, ceph-mgr and ceph-osd. Others run with `npm test` where their
// TEST_ variables are set (see apps/gateway/src/providers).

import { spawnSync } from 'node:child_process'
import { startRadosgw } from '@svc/devnet/providers/storj/radosgw'

const radosgw = await startRadosgw()
if (!radosgw) {
  console.error('radosgw is not installed: apt-get install radosgw ceph-mon ceph-mgr ceph-osd')
  process.exit(1)
}
const { status } = spawnSync('vitest', ['run', '--project', 'node', 'apps/gateway/src/providers/storj.test.ts'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    TEST_STORJ_ENDPOINT: radosgw.url,
    TEST_STORJ_BUCKET: radosgw.bucket,
    TEST_STORJ_ACCESS_KEY_ID: radosgw.credentials.accessKeyId,
    TEST_STORJ_SECRET_ACCESS_KEY: radosgw.credentials.secretAccessKey,
  },
})
await radosgw.stop()
process.exit(status ?? 1)
