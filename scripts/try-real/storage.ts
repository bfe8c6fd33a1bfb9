// The suite of all storage drivers (`packages/storage/test/provider-suite.ts`) on a provider's own service.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isSlow, PROVIDER_FACTS, type Provider } from '@svc/api/providers'
import { startRadosgw } from '@svc/devnet/providers/s3-bucket/radosgw'
import { s3Url } from '@svc/devnet/providers/store-urls'
import { providerLocation, readProviderSettings } from '@svc/storage/drivers'
import { requireThat, type Trial } from './trial.ts'

/** Estimates, rounded up. The suite writes 117 MiB in 70 objects; at slow providers 12 MiB in 20, which stay. */
const COSTS: Partial<Record<Provider, string>> = {
  gcs: '0.10 USD',
  storj: '0.05 USD',
  mongodb: 'only the traffic of the cluster',
  firestore: '0.05 USD',
  arweave: 'credit for 12 MiB (0.25 USD at 20 USD a GiB)',
  filecoin: 'what the data set is charged for 12 MiB (below 1 USDFC a month)',
}

export function tryStorage(name: Provider): Trial {
  const setting = name.toUpperCase()
  const { title } = PROVIDER_FACTS[name]
  return async (settings) => {
    const configured = readProviderSettings(settings)
    const url = settings.text(setting)
    settings.done()
    requireThat(url !== '', `${setting} is not set: it names the account, as for the gateway`)
    return {
      about: [`${title}: ${providerLocation(name, configured)}`],
      costs: `about ${COSTS[name] ?? 'the price of 117 MiB'}`,
      async run(passed) {
        runSuite(name, url)
        passed(`the suite of all storage drivers passes on ${title}`)
      },
    }
  }
}

export const tryCeph: Trial = async () => {
  const radosgw = await startRadosgw()
  requireThat(radosgw !== null, 'radosgw is not installed: apt-get install radosgw ceph-mon ceph-mgr ceph-osd')
  return {
    about: [`Ceph on this machine, in memory, at ${radosgw.url}`],
    costs: null,
    async run(passed) {
      try {
        runSuite('storj', s3Url(radosgw))
      } finally {
        await radosgw.stop()
      }
      passed('the suite of all storage drivers passes on Ceph')
    },
  }
}

const S3_SUITE = 'packages/storage/test/s3-bucket/suite.test.ts'

/** On slow providers, where objects stay and are paid for, without the tests of large objects. */
function runSuite(name: Provider, url: string): void {
  const own = `packages/storage/test/${name}/suite.test.ts`
  // Providers without a driver of their own speak S3.
  const [file, setting] = existsSync(own) ? [own, name.toUpperCase()] : [S3_SUITE, 'STORJ']
  const args = ['run', '--project', 'node', '-t', ' itself, a storage provider', file]
  const { status } = spawnSync('vitest', isSlow(name) ? [...args, '--tags-filter=!nightly'] : args, {
    stdio: 'inherit',
    env: { ...process.env, [`TEST_${setting}`]: url },
  })
  requireThat(status === 0, `the suite of all storage drivers fails on ${PROVIDER_FACTS[name].title}`)
}
