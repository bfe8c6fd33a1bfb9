import { texts } from '#texts/admin'
import { Card } from '../../../ui/card.tsx'
import { networkTitle, providerTitle } from '../../../ui/names.ts'
import { Status } from '../../../ui/status.tsx'
import { Table } from '../../../ui/table.tsx'
import { Shown, word } from '../parts.tsx'
import { useOverview } from './overview.tsx'

const t = texts.providers
const TONES = { ok: 'good', failing: 'bad', disabled: 'neutral' } as const

export function Providers() {
  return (
    <Shown live={useOverview()}>
      {({ providers, chains }) => (
        <>
          <Card title={t.providers}>
            {providers.length === 0 ? (
              <p>{t.none}</p>
            ) : (
              <Table
                caption={texts.table(t.providers)}
                head={[t.name, t.state]}
                rows={providers.map(({ provider, healthy }) => [
                  <b key="name">{providerTitle(provider)}</b>,
                  <Status key="state" tone={healthy ? 'good' : 'bad'}>
                    {healthy ? t.up : t.down}
                  </Status>,
                ])}
              />
            )}
          </Card>
          <Card title={t.chains}>
            <Table
              caption={texts.table(t.chains)}
              head={[t.name, t.state]}
              rows={chains.map(({ network, state }) => [
                <b key="name">{networkTitle(network)}</b>,
                <Status key="state" tone={TONES[state]}>
                  {word(t.chainStates, state)}
                </Status>,
              ])}
            />
          </Card>
        </>
      )}
    </Shown>
  )
}
