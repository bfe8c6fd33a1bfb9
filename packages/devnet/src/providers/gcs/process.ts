// The store in its own process, so that its work does not count as its clients'. It ends with its parent.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGcsServer } from './start.ts'

const folder = await mkdtemp(join(tmpdir(), 'svc-gcs-'))
const { url, bucket, keyFile, stop } = await startGcsServer({ folder })
process.send?.({ url, bucket, keyFile })
process.once('disconnect', async () => {
  await stop()
  await rm(folder, { recursive: true })
})
