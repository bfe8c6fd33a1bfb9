// An S3 server in Node, on a folder. It takes requests without a signature.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import { reportTo } from '../server-process.ts'

const directory = await mkdtemp(join(tmpdir(), 'svc-s3rver-'))
const server = new S3rver({
  port: 0,
  address: '127.0.0.1',
  silent: true,
  directory,
  configureBuckets: [{ name: 'bench', configs: [] }],
})
const { port } = await server.run()
reportTo(process, `http://127.0.0.1:${port}/bench`, async () => {
  await server.close()
  await rm(directory, { recursive: true })
})
