import { PATIENCE } from '../../src/timeouts.ts'
import { openStorj } from '../../src/storj/open.ts'
import { describeLies, LITTLE_PATIENCE } from '../bad-answers.ts'
import { newId } from '../objects.ts'

const NOBODY = { region: 'us-east-1', bucket: 'none', prefix: '', accessKeyId: 'nobody', secretAccessKey: 'nothing' }

describeLies('the driver of Storj', async (endpoint) => {
  const provider = await openStorj({ ...NOBODY, endpoint, redirect: 'off' }, { ...PATIENCE, ...LITTLE_PATIENCE })
  const key = { id: newId(), ref: null }
  return { read: (range) => provider.read(key, range), stat: () => provider.stat(key) }
})
