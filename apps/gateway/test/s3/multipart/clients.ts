import { S3Client } from '@aws-sdk/client-s3'
import type { TestLocker } from '../../auth/lockers.ts'
import { askCredentials, done } from '../credentials/credentials-house.ts'
import type { S3House } from '../s3-house.ts'

/** A stock client of a locker that the test has opened itself. */
export async function clientOf({ s3Url }: S3House, locker: TestLocker): Promise<S3Client> {
  const credentials = done(await askCredentials(locker, { access: 'write' }))
  return new S3Client({
    endpoint: s3Url,
    region: credentials.region,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: {
      accessKeyId: credentials.access_key_id,
      secretAccessKey: credentials.secret_access_key,
      sessionToken: credentials.session_token,
    },
  })
}
