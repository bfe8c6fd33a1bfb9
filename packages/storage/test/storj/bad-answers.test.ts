import { openStorj } from '../../src/storj/open.ts'
import { HTTP_TIMEOUTS } from '../../src/timeouts.ts'
import { describeBadAnswers, SHORT_TIMEOUTS } from '../bad-answers.ts'
import { newId } from '../objects.ts'

const UNKNOWN = { region: 'us-east-1', bucket: 'none', prefix: '', accessKeyId: 'nobody', secretAccessKey: 'nothing' }

describeBadAnswers('the Storj driver', async (endpoint) => {
  const provider = await openStorj({ ...UNKNOWN, endpoint, redirect: 'off' }, { ...HTTP_TIMEOUTS, ...SHORT_TIMEOUTS })
  const key = { id: newId(), ref: null }
  return { read: (range) => provider.read(key, range), stat: () => provider.stat(key) }
})
