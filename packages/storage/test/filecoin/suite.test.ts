import { openFilecoin } from '../../src/filecoin/open.ts'
import type { FilecoinSettings } from '../../src/filecoin/settings.ts'
import { openDeliveredProvider } from '../delivered-provider.ts'
import { describeProvider } from '../provider-suite.ts'
import { describeReal } from '../real-provider.ts'
import { startTestFilecoin } from './start-filecoin.ts'

const open = async () => {
  const { store, close } = await startTestFilecoin()
  return openDeliveredProvider(store, close)
}
describeProvider('the Filecoin driver', open, { isStaged: true })

const openReal = async (settings: FilecoinSettings) =>
  openDeliveredProvider(await openFilecoin(settings), async () => {})
describeReal('filecoin', openReal, { isStaged: true })
