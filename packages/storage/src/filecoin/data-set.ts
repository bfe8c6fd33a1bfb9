import { signCreateDataSet } from '@filoz/synapse-core/typed-data'
import { keccak256, toHex } from 'viem'
import type { DataSet, FilecoinClient, RecordKeeper } from './chain.ts'
import { isRejection } from './errors.ts'
import type { Pdp } from './pdp.ts'
import type { FilecoinSettings } from './settings.ts'
import { type FilecoinTimeouts, notFinished, pollProgress } from './timeouts.ts'

/** The data set of the settings; otherwise the one for this key and payee, which is created when it is missing. */
export function openDataSet(
  { dataSet, payee, chainId, recordKeeper }: FilecoinSettings,
  client: FilecoinClient,
  keeper: RecordKeeper,
  timeouts: FilecoinTimeouts,
): (pdp: Pdp, signal: AbortSignal) => Promise<DataSet> {
  // The same in every gateway and after every start, so that the contract allows its creation only once.
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
      // Settings without a data set have a payee.
      const extraData = await signCreateDataSet(client, { clientDataSetId, payee: payee as `0x${string}` })
      await pdp.createDataSet(recordKeeper, extraData)
    } catch (error) {
      if (!isRejection(error)) throw error
      sentAt = Number.NEGATIVE_INFINITY
      // Another gateway may have created it meanwhile; it must not be created twice.
      found = await find()
      if (!found) throw error
    }
  }

  return async (pdp, signal) => {
    found ??= await find()
    if (found) return found
    if (performance.now() - sentAt >= timeouts.lostMs) await create(pdp)
    found ??= await pollProgress(timeouts, signal, find)
    if (!found) throw notFinished('a new data set')
    return found
  }
}
