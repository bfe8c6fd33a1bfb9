// Texts as file names, through every endpoint and back, and as tags; URLs that the gateway fetches and an agent calls.
// All host names lead to this machine, where nothing may be called.

import { createFreshDatabase } from '@svc/devnet/databases'
import { startDnsServer } from '@svc/devnet/dns-server'
import { startTestAgent } from '@svc/devnet/services/agent'
import type { Corpora, Outcome } from '../cases.ts'
import { type EntryPoints, openEntryPoints } from './entry-points.ts'
import { checkNames } from './names.ts'
import { checkUrls } from './urls.ts'

const THIS_MACHINE = '127.0.0.1'

const DIALECTS = ['sqlite', 'postgres'] as const

/** URLs run on SQLite only, because they do not depend on the database. */
export async function checkEntryPoints(
  { texts, urls }: Corpora,
  dialects: readonly (typeof DIALECTS)[number][] = DIALECTS,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const dialect of dialects) {
    if (texts.length === 0 && dialect !== 'sqlite') continue
    await withEntryPoints(dialect, async (entryPoints) => {
      if (texts.length > 0) outcomes.push(...(await checkNames(texts, entryPoints, dialect)))
      if (urls.length > 0 && dialect === 'sqlite')
        outcomes.push(await withAgent(entryPoints, (agentUrl) => checkUrls(urls, entryPoints, agentUrl)))
    })
  }
  return outcomes
}

async function withEntryPoints(
  dialect: 'sqlite' | 'postgres',
  work: (entryPoints: EntryPoints) => Promise<void>,
): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const dns = await startDnsServer(() => [THIS_MACHINE])
  opened.defer(() => dns.stop())
  const database = await createFreshDatabase(dialect)
  opened.defer(() => database.drop())
  const entryPoints = await openEntryPoints({ databaseUrl: database.url, dnsServer: dns.address })
  opened.defer(() => entryPoints.close())
  await work(entryPoints)
}

async function withAgent({ url }: EntryPoints, work: (agentUrl: string) => Promise<Outcome>): Promise<Outcome> {
  const agent = await startTestAgent({ GATEWAY_URL: url })
  try {
    return await work(agent.url)
  } finally {
    await agent.stop()
  }
}
