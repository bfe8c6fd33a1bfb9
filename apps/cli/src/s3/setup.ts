// Setup instructions for common clients, ready to paste. Placeholders replace the secrets, which are shown on request
// only.

import type { NewS3Key, NewWalletS3Key, S3Credentials } from '@svc/sdk'
import { shellWord } from '../output/shell-word.ts'

type LockerConnection = Pick<S3Credentials, 'endpoint' | 'region' | 'bucket' | 'prefix'>
/** A connection to one locker, or to all lockers of a wallet. */
type Connection = LockerConnection | (Pick<S3Credentials, 'endpoint' | 'region'> & { bucket?: never; prefix?: never })

const PROFILE = 'svc'

/** For clients that request credentials, or read them from the environment. */
export function sessionSetup(connection: Connection, command: string): string {
  const { endpoint, region } = connection
  return `aws and boto3 get new credentials automatically, with these lines in ~/.aws/config. aws must find svc on its PATH,
or use its full path (in a clone of the repository: node_modules/.bin/svc).

[profile ${PROFILE}]
credential_process = ${command} --format process
endpoint_url = ${endpoint}
region = ${region}
s3 =
  signature_version = s3v4

  aws --profile ${PROFILE} ${awsList(connection)}
  boto3.Session(profile_name='${PROFILE}').${boto3List(connection)}

Other clients read them from the environment, until they expire:

  eval "$(${command} --format env)"
  ${rcloneLine(connection)}
${resticLines(connection)}
For s3fs and programs that run for longer than an hour, create a key: svc s3 keys new NAME${connection.bucket === undefined ? ' --all' : ''}`
}

/** For clients that store a key. */
export function keySetup({ access_key_id: id, ...connection }: NewS3Key | NewWalletS3Key): string {
  const { endpoint, region } = connection
  return `In a shell, with the secret above in place of SECRET:

  export AWS_ACCESS_KEY_ID=${id} AWS_SECRET_ACCESS_KEY=SECRET
  export AWS_ENDPOINT_URL_S3=${endpoint} AWS_REGION=${region} AWS_DEFAULT_REGION=${region}
  aws ${awsList(connection)}
  boto3.${boto3List(connection)}
  ${rcloneLine(connection)}
${resticLines(connection)}
${isHosted(endpoint) ? s3fsLines({ id, ...connection }) : ''}`.trimEnd()
}

function s3fsLines({ id, endpoint, region, bucket = BUCKET, prefix = '' }: Connection & { id: string }): string {
  const folder = prefix === '' ? '' : `:/${prefix.slice(0, -1)}`
  return `  (umask 077; echo ${id}:SECRET > ~/.passwd-s3fs)
  s3fs ${shellWord(bucket + folder)} MOUNTPOINT -o url=${endpoint} -o use_path_request_style -o endpoint=${region}`
}

/** The placeholder for a client that needs one bucket of several. */
const BUCKET = 'BUCKET'

/** Names the endpoint: aws before 1.29 and 2.13, and boto3 before 1.28, ignore the one in a profile or a variable. */
function awsList({ endpoint, bucket, prefix }: Connection): string {
  const target = bucket === undefined ? '' : ` ${shellWord(`s3://${bucket}/${prefix}`)}`
  return `--endpoint-url ${shellWord(endpoint)} s3 ls${target}`
}

function boto3List({ endpoint, bucket, prefix }: Connection): string {
  // A JSON string is also a valid Python literal.
  const client = `client('s3', endpoint_url=${JSON.stringify(endpoint)})`
  if (bucket === undefined) return `${client}.list_buckets()`
  const target = `Bucket=${JSON.stringify(bucket)}${prefix === '' ? '' : `, Prefix=${JSON.stringify(prefix)}`}`
  return `${client}.list_objects_v2(${target})`
}

function rcloneLine({ endpoint, region, bucket, prefix }: Connection): string {
  const remote = `:s3,provider=Other,env_auth,region=${region},endpoint="${endpoint}":`
  if (bucket === undefined) return `rclone lsd ${shellWord(remote)}`
  return `rclone ls ${shellWord(`${remote}${bucket}/${prefix}`)}`
}

/** Whether the endpoint has no path: restic and mc read its first part as the bucket, and s3fs does not sign it. */
function isHosted(endpoint: string): boolean {
  return new URL(endpoint).pathname === '/'
}

function resticLines({ endpoint, bucket = BUCKET, prefix = '' }: Connection): string {
  if (!isHosted(endpoint))
    return '  (restic, s3fs and mc need an endpoint without a path: the gateway’s admin sets S3=on,host=… for them)\n'
  return `  restic -r ${shellWord(`s3:${endpoint}/${bucket}/${prefix}`)} -o s3.bucket-lookup=path init\n`
}
