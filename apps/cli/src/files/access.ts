// `svc access`: everything that opens a locker.

import type { AccessEntry } from '@svc/sdk'
import type { Command } from 'commander'
import { timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'

export function add(program: Command, open: Open): void {
  program
    .command('access')
    .description('everything that opens the locker now, and the command that ends each; only for the owner')
    .action(async (_: object, command: Command) => listAccess(await open(command)))
}

async function listAccess(session: Session): Promise<void> {
  const { output, host } = session
  const locker = await session.locker()
  const list = await (await session.lockerClient(locker)).access(locker, host.signal)
  output.result(list, () => {
    const columns = ['WHAT', 'OPENS', 'MAY', 'UNTIL', 'LAST USED', 'TO END IT'].map((title) => ({ title }))
    const rows = list.access.map((entry) => {
      const { kind, path, permissions, expires_at, last_used_at } = entry
      const cells = [path ?? 'everything', permissions.join(' ') || '-', timeText(expires_at), timeText(last_used_at)]
      return [KINDS[kind], ...cells, commandToEnd(entry, session.lockerOption)].map(shown)
    })
    return table(columns, rows)
  })
  if (list.truncated) output.note('There are more upload sessions.')
  output.note(
    '`svc revoke` ends all shares, S3 access, temporary links, tus tokens and upload sessions. Temporary links, tus tokens and temporary S3 credentials are not listed: each expires within a day.',
  )
}

const KINDS: Record<AccessEntry['kind'], string> = {
  operator: 'operator',
  public_link: 'public link',
  share: 'share',
  s3_key: 'S3 key',
  upload_session: 'upload',
}

function commandToEnd({ kind, id, end }: AccessEntry, lockerOption: string): string {
  if (end === null) return 'closed'
  switch (kind) {
    case 'operator':
      return `svc operators rm ${id}${lockerOption}`
    case 'public_link':
      return `svc link close${lockerOption}`
    case 'share':
      return `svc shares end ${id}${lockerOption}`
    case 's3_key':
      return `svc s3 keys revoke ${id}${isOfWallet(end) ? ' --all' : lockerOption}`
    case 'upload_session':
      return `svc revoke${lockerOption}`
  }
}

/** Whether an S3 key opens all lockers of the wallet. */
function isOfWallet({ path }: NonNullable<AccessEntry['end']>): boolean {
  return path.startsWith('/v1/s3/keys/')
}
