import { createAgent } from '../http/agent.ts'
import type { SlowStore } from '../slow-store.ts'
import { openClient } from './client.ts'
import { commitmentThread } from './commitment-thread.ts'
import { openDataSet } from './data-set.ts'
import { PATIENCE, type Patience } from './patience.ts'
import { openPdp } from './pdp.ts'
import { MAX_BYTES, pieceOf } from './piece.ts'
import { findPiece, type Places, readPiece } from './read.ts'
import { openRecordKeeper } from './record-keeper.ts'
import type { Filecoin } from './run.ts'
import type { FilecoinSettings } from './settings.ts'
import { settle } from './settle.ts'

/** Pieces in a data set at a provider that proves to a contract, day by day, that it has them. */
export async function openFilecoin(settings: FilecoinSettings, patience: Patience = PATIENCE): Promise<SlowStore> {
  const { pdpUrl, retrievalUrl } = settings
  const client = openClient(settings, patience)
  const keeper = openRecordKeeper(client)
  const dataSet = openDataSet(settings, client, keeper, patience)
  const filecoin: Filecoin = { pdpUrl, patience, client, keeper, dataSet, commitmentOf: commitmentThread() }
  const atProvider = { url: `${pdpUrl}/piece`, agent: createAgent(pdpUrl, { keepAlive: true }), patience }
  const places: Places =
    retrievalUrl === null
      ? [atProvider]
      : [
          {
            url: retrievalUrl,
            agent: createAgent(retrievalUrl, { keepAlive: true }),
            patience: { ...patience, attempts: 1 },
          },
          atProvider,
        ]
  return {
    maxBytes: MAX_BYTES,
    settle: (object) => settle(filecoin, object),
    async read(ref, range) {
      const piece = pieceOf(ref)
      return piece && readPiece(places, piece, range)
    },
    async stat(ref) {
      const piece = pieceOf(ref)
      return piece && findPiece(places, piece)
    },
    async check() {
      const pdp = openPdp(pdpUrl, patience, new AbortController().signal)
      const answers = pdp.ping().then(
        () => true,
        () => false,
      )
      return answers.finally(pdp.close)
    },
  }
}
