import type { SlowRoutes } from '@svc/api/operations'
import { texts } from '#texts/admin'
import { common } from '#texts/common'
import { Card } from '../../../ui/card.tsx'
import { Table } from '../../../ui/table.tsx'
import { useLive } from '../live.ts'
import { OPERATIONS, Shown } from '../parts.tsx'

const t = texts.routes

export function Routes() {
  const slow = useLive<SlowRoutes>(`${OPERATIONS}/slow-routes`)
  return (
    <Shown live={slow}>
      {({ routes }) => (
        <Card title={t.title}>
          {routes.length === 0 ? (
            <p>{t.none}</p>
          ) : (
            <Table
              caption={texts.table(t.caption)}
              head={[t.route, t.p95, t.p50, t.p99, t.mean, t.requests, t.errors]}
              numeric={[1, 2, 3, 4, 5, 6]}
              rows={routes.map(({ method, route, requests, server_errors, mean_ms, p50_ms, p95_ms, p99_ms }) => [
                <code key="route">
                  {method} {route}
                </code>,
                <b key="p95">{t.ms(p95_ms)}</b>,
                t.ms(p50_ms),
                t.ms(p99_ms),
                t.ms(mean_ms),
                common.number(requests),
                server_errors > 0 ? (
                  <b key="errors" class="bad-text">
                    {common.number(server_errors)}
                  </b>
                ) : (
                  '0'
                ),
              ])}
            />
          )}
          <p class="faint">{t.note}</p>
        </Card>
      )}
    </Shown>
  )
}
