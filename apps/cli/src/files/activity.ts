// `svc activity`: what was done to the locker, and what changed who can open it.

import type { ActivityEntry } from '@svc/sdk'
import type { Command } from 'commander'
import { lockerArgument } from '../options.ts'
import { timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'

export function add(program: Command, open: Open): void {
  program
    .command('activity')
    .description('what was done to the locker, and what changed who can open it, newest first; only for the owner')
    .addArgument(lockerArgument())
    .action(async (locker: string | undefined, _: object, command: Command) =>
      listActivity(await open(command), locker),
    )
}

async function listActivity(session: Session, wanted: string | undefined): Promise<void> {
  const { output, host } = session
  const locker = await session.locker(wanted)
  const entries: ActivityEntry[] = []
  for await (const entry of (await session.lockerClient(locker)).activity(locker, { signal: host.signal })) {
    if (output.isJson) output.result(entry, () => '')
    entries.push(entry)
  }
  if (!output.isJson) output.result(entries, () => activityText(entries))
}

function activityText(entries: readonly ActivityEntry[]): string {
  const columns = ['WHEN', 'WHAT', 'WHICH', 'ID', 'BY'].map((title) => ({ title }))
  const rows = entries.map((entry) => {
    const { at, what, id, by } = entry
    return [timeText(at), WHAT[what], whichOf(entry), id ?? '-', by ?? '-'].map(shown)
  })
  return table(columns, rows)
}

const WHAT: Record<ActivityEntry['what'], string> = {
  opened: 'locker opened',
  renewed: 'renewed',
  renamed: 'renamed',
  attested: 'statement made',
  anchoring_changed: 'anchoring changed',
  operator_added: 'operator added',
  operator_removed: 'operator removed',
  operator_named: 'operator named',
  share_created: 'share created',
  share_ended: 'share ended',
  s3_key_created: 'S3 key created',
  s3_key_revoked: 'S3 key revoked',
  public_link_opened: 'public link opened',
  public_link_rotated: 'public link rotated',
  public_link_closed: 'public link closed',
  everything_ended: 'all shares, keys and uploads ended',
  frozen: 'frozen by the admin',
  taken_down: 'taken down by the admin',
  restriction_lifted: 'restriction lifted',
  other: 'other change',
}

function whichOf({ label, path, sequence, all_lockers }: ActivityEntry): string {
  const facts = [sequence?.toString(), path, label, all_lockers && 'all lockers']
  return facts.filter((fact) => fact).join(', ') || '-'
}
