// The store in a process of its own, so that its work is not measured as its clients'. It ends with its parent.

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
