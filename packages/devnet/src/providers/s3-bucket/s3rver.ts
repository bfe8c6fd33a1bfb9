// An independent S3 store, as a second opinion on requests and signatures. It keeps half an object when an upload breaks
// off, ignores preconditions, and cannot abort or list multipart uploads.

import S3rver from '@20minutes/s3rver'
import type { Credentials } from './signature.ts'

export interface OtherStore {
  url: string
  bucket: string
  credentials: Credentials
  stop(): Promise<void>
}

export async function startS3rver({ folder }: { folder: string }): Promise<OtherStore> {
  const bucket = 'svc-test'
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    configureBuckets: [{ name: bucket }],
  })
  const { port } = await server.run()
  return {
    url: `http://127.0.0.1:${port}`,
    bucket,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', region: 'us-east-1' },
    async stop() {
      const closed = server.close()
      server.httpServer.closeAllConnections()
      await closed
    },
  }
}
