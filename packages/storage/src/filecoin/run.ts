import type { SettlingObject } from '../slow-store.ts'
import type { FilecoinClient } from './client.ts'
import type { Notes } from './notes.ts'
import type { Patience } from './patience.ts'
import type { Pdp } from './pdp.ts'
import type { DataSet, RecordKeeper } from './record-keeper.ts'

export interface Filecoin {
  pdpUrl: string
  patience: Patience
  client: FilecoinClient
  keeper: RecordKeeper
  dataSet(pdp: Pdp, signal: AbortSignal): Promise<DataSet>
  commitmentOf(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array>
}

/** One object, on its way to the provider. */
export interface Run extends Filecoin {
  object: SettlingObject
  pdp: Pdp
  /** As noted last. */
  notes: Notes
  note(notes: Notes): Promise<void>
}
