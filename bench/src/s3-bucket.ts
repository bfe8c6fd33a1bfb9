import { lockerClient } from './locker-client.ts'
import type { S3Bucket } from './presign.ts'
import type { ServerProcess } from './server-process.ts'

/** The first locker of a bench gateway as an S3 bucket with its own key. */
export async function bucketOf(gateway: ServerProcess): Promise<S3Bucket> {
  const { locker, call } = lockerClient(gateway)
  const key = await call<{ access_key_id: string; secret_access_key: string }>({
    method: 'POST',
    path: `/v1/lockers/${locker.locker_id}/s3/keys`,
    ops: ['locker:admin'],
    body: JSON.stringify({ name: 'bench', access: 'write', expires_in_days: 1 }),
  })
  return {
    endpoint: `${gateway.url}/s3`,
    bucket: locker.locker_id,
    accessKeyId: key.access_key_id,
    secret: key.secret_access_key,
  }
}
