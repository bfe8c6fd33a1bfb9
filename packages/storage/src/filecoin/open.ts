import { createAgent } from '../http/agent.ts'
import { succeeds } from '../provider.ts'
import type { SlowStore } from '../slow-store.ts'
import { openClient, openRecordKeeper } from './chain.ts'
import { commitmentThread } from './commitment-thread.ts'
import { openDataSet } from './data-set.ts'
import { deliver, type Filecoin } from './deliver.ts'
import { openPdp } from './pdp.ts'
import { MAX_BYTES, pieceOf } from './piece.ts'
import { findPiece, type Locations, readPiece } from './read.ts'
import type { FilecoinSettings } from './settings.ts'
import { TIMEOUTS } from './timeouts.ts'

/** Pieces in a data set at a provider that proves to a contract every day that it has them. */
export async function openFilecoin(settings: FilecoinSettings, timeouts = TIMEOUTS): Promise<SlowStore> {
  const { pdpUrl, retrievalUrl } = settings
  const client = openClient(settings, timeouts)
  const keeper = openRecordKeeper(client)
  const dataSet = openDataSet(settings, client, keeper, timeouts)
  const filecoin: Filecoin = { pdpUrl, timeouts, client, keeper, dataSet, commitmentOf: commitmentThread() }
  const locationAt = (url: string, attempts: number) => ({
    url,
    agent: createAgent(url, { keepAlive: true }),
    timeouts: { ...timeouts, attempts },
  })
  const provider = locationAt(`${pdpUrl}/piece`, timeouts.attempts)
  const locations: Locations = retrievalUrl === null ? [provider] : [locationAt(retrievalUrl, 1), provider]
  return {
    maxBytes: MAX_BYTES,
    deliver: (object) => deliver(filecoin, object),
    async read(ref, range) {
      const piece = pieceOf(ref)
      return piece && readPiece(locations, piece, range)
    },
    async stat(ref) {
      const piece = pieceOf(ref)
      return piece && findPiece(locations, piece)
    },
    async check() {
      const pdp = openPdp(pdpUrl, timeouts, new AbortController().signal)
      return succeeds(pdp.ping()).finally(pdp.close)
    },
  }
}
