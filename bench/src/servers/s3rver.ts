// An S3 server in Node, on a folder.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startS3rver } from '@svc/devnet/providers/s3-bucket/s3rver'
import { reportTo } from '../server-process.ts'

const folder = await mkdtemp(join(tmpdir(), 'svc-s3rver-'))
const { url, bucket, stop } = await startS3rver({ folder })
reportTo(process, `${url}/${bucket}`, async () => {
  await stop()
  await rm(folder, { recursive: true })
})
