import { isoSeconds } from '@svc/protocol/evidence'
import { formatKey } from '@svc/protocol/transparency/note'
import { countOpenAlarms } from '../alarms/store.ts'
import type { Context } from '../context.ts'
import { listCosigned } from './store.ts'

/** The lines `witness` and `log` can be copied into a policy. */
export async function witnessPage({ config, database, key, logs }: Context): Promise<string> {
  const cosigned = new Map((await listCosigned(database.db)).map((row) => [row.origin, row]))
  const known = logs.all().logs.flatMap((log) => {
    const last = cosigned.get(log.key.name)
    const state = last ? `size ${last.size}, cosigned ${isoSeconds(last.cosigned_at)}` : 'nothing cosigned yet'
    return [`# ${state}`, ['log', formatKey(log.key), log.url ?? ''].join(' ').trimEnd()]
  })
  return `${[
    '# A witness of transparency logs (https://c2sp.org/tlog-witness)',
    `witness ${config.name} ${formatKey(key)} ${config.http.baseUrl}`,
    '',
    '# Known logs',
    ...(known.length > 0 ? known : ['# none']),
    '',
    `# Open alarms: ${await countOpenAlarms(database.db)}, see /alarms`,
  ].join('\n')}\n`
}
