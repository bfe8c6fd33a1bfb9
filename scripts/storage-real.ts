// `npm run test:storage-real`: runs the storage drivers' suite on a real store that can be started locally: Ceph's S3
// gateway, from the Debian packages radosgw, ceph-mon, ceph-mgr and ceph-osd. With `npm test`, tests of other providers
// use a real service if their TEST_ variables are set (see packages/storage/test).

import { spawnSync } from 'node:child_process'
import { startRadosgw } from '@svc/devnet/providers/s3-bucket/radosgw'
import { s3Url } from '@svc/devnet/providers/store-urls'

const radosgw = await startRadosgw()
if (!radosgw) {
  console.error('radosgw is not installed: apt-get install radosgw ceph-mon ceph-mgr ceph-osd')
  process.exit(1)
}
const { status } = spawnSync('vitest', ['run', '--project', 'node', 'packages/storage/test/s3-bucket'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    TEST_STORJ: s3Url(radosgw, 'svc-test/'),
  },
})
await radosgw.stop()
process.exit(status ?? 1)
