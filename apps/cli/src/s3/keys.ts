// `svc s3 keys`: the owner creates, lists and revokes keys.

import type { S3Key, WalletS3Key } from '@svc/sdk'
import { timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs, table } from '../output/table.ts'
import type { Session } from '../session.ts'
import { keySetup } from './setup.ts'

export interface KeyOptions {
  /** Keys for all lockers that the wallet owns. */
  all?: true
}

export interface NewKeyOptions extends KeyOptions {
  days: number
  readOnly?: true
  prefix?: string
}

export async function newKey(session: Session, name: string, options: NewKeyOptions): Promise<void> {
  const { output, host } = session
  const { days, readOnly, prefix, all } = options
  const common = { name, days, access: readOnly ? 'read' : 'write', signal: host.signal } as const
  const { client, locker } = await keyScope(session, all)
  const key = locker
    ? await client.createS3Key(locker, { ...common, ...(prefix !== undefined && { prefix }) })
    : await client.createWalletS3Key(common)
  output.result(key, () =>
    pairs([
      ['access key id', key.access_key_id],
      ['secret access key', key.secret_access_key],
      ['endpoint', key.endpoint],
      ['region', key.region],
      ['bucket', locker ? locker.locker_id : 'each locker that the wallet owns'],
      ['works until', timeText(shown(key.expires_at))],
    ]),
  )
  output.note(`The secret will not be shown again.\n\n${keySetup(key)}`)
}

/** The client for the keys. The locker is null with `--all`. */
async function keyScope(session: Session, all: true | undefined) {
  if (all) return { client: await session.client(await session.keyFor(null)), locker: null }
  const locker = await session.locker()
  return { client: await session.lockerClient(locker), locker }
}

export async function listKeys(session: Session, { all }: KeyOptions): Promise<void> {
  const { output, host } = session
  const { client, locker } = await keyScope(session, all)
  const keys: (S3Key | WalletS3Key)[] = locker
    ? await client.s3Keys(locker, host.signal)
    : await client.walletS3Keys(host.signal)
  if (output.isJson) {
    for (const key of keys) output.result(key, () => '')
    return
  }
  if (keys.length === 0) return output.note(`No keys yet: \`svc s3 keys new NAME${all ? ' --all' : ''}\` makes one.`)
  output.result(keys, () => {
    const columns = ['ID', 'NAME', 'ACCESS', 'FOLDER', 'UNTIL', 'LAST USED'].map((title) => ({ title }))
    const rows = keys.map(({ access_key_id, name, access, expires_at, last_used_at, ...key }) => {
      const folder = ('prefix' in key && key.prefix) || '-'
      return [access_key_id, name, access, folder, timeText(expires_at), timeText(last_used_at)].map(shown)
    })
    return table(columns, rows)
  })
}

export async function revokeKey(session: Session, accessKeyId: string, { all }: KeyOptions): Promise<void> {
  const { output, host } = session
  const { client, locker } = await keyScope(session, all)
  if (locker) await client.revokeS3Key(locker, accessKeyId, host.signal)
  else await client.revokeWalletS3Key(accessKeyId, host.signal)
  const about = locker ? { locker_id: locker.locker_id } : {}
  output.result({ ...about, revoked: accessKeyId }, () => `${shown(accessKeyId)} no longer works`)
}
