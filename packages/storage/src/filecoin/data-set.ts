import { signCreateDataSet } from '@filoz/synapse-core/typed-data'
import { keccak256, toHex } from 'viem'
import type { FilecoinClient } from './client.ts'
import { type Patience, until } from './patience.ts'
import type { Pdp } from './pdp.ts'
import type { DataSet, RecordKeeper } from './record-keeper.ts'
import { Refusal } from './errors.ts'
import type { FilecoinSettings } from './settings.ts'

/** The data set of the settings; or else the one for this key and payee, which is made where it is not there yet. */
export function openDataSet(
  { dataSet, payee, chainId, recordKeeper }: FilecoinSettings,
  client: FilecoinClient,
  keeper: RecordKeeper,
  patience: Patience,
): (pdp: Pdp, signal: AbortSignal) => Promise<DataSet> {
  // The same in every gateway and after every start, so that the contract lets it be made once only.
  const clientDataSetId = BigInt(keccak256(toHex(`svc data set ${chainId} ${recordKeeper} ${payee}`.toLowerCase())))
  let found: DataSet | null = null
  let sentAt = Number.NEGATIVE_INFINITY

  async function find(): Promise<DataSet | null> {
    const id = dataSet ?? (await keeper.dataSetUsing(clientDataSetId))
    return id === null ? null : keeper.requireDataSet(id)
  }

  async function create(pdp: Pdp): Promise<void> {
    sentAt = performance.now()
    try {
      // Without a data set the settings have a payee.
      const extraData = await signCreateDataSet(client, { clientDataSetId, payee: payee as `0x${string}` })
      await pdp.createDataSet(recordKeeper, extraData)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      sentAt = Number.NEGATIVE_INFINITY
      // Another gateway may have made it meanwhile: then it is there, and must not be made twice.
      found = await find()
      if (!found) throw error
    }
  }

  return async (pdp, signal) => {
    found ??= await find()
    if (found) return found
    if (performance.now() - sentAt >= patience.lostMs) await create(pdp)
    found ??= await until(patience, signal, 'a new data set', find)
    return found
  }
}
