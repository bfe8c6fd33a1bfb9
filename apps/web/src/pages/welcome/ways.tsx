import type { ComponentChildren } from 'preact'
import { texts } from '#texts/welcome'
import { urlOf } from '../../address.ts'
import { index, publicUrl } from '../../gateway.ts'
import { Code } from '../../ui/code.tsx'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { Tabs } from '../../ui/tabs.tsx'

const t = texts.ways

export function Ways() {
  const { value } = index.now
  const isDevelopment = value.state === 'ready' && value.value.environment === 'development'
  const hasAgent = value.state === 'ready' && value.value.agent_url !== undefined
  return (
    <section id="ways" class="ways" aria-label={t.title}>
      <h2>{t.title}</h2>
      <div class="ways-list">
        <Way icon="globe" title={t.page.title} text={t.page.text}>
          <div class="row">
            <a class="button button-primary" href={urlOf('/buy')}>
              {t.page.buy}
            </a>
            <a class="button" href={urlOf('/docs')}>
              {t.page.action}
            </a>
          </div>
          <Code title="curl" label={t.page.label} text={firstCall(publicUrl())} />
        </Way>
        <Way icon="terminal" title={t.cli.title} text={t.cli.text}>
          <Code title="svc" label={t.cli.label} text={shellCommands(publicUrl(), isDevelopment)} />
        </Way>
        <Way icon="spark" title={t.agent.title} text={t.agent.text}>
          <Tabs
            label={t.agent.title}
            tabs={[
              {
                name: t.agent.clients,
                content: <Code title="JSON" label={t.agent.label} text={mcpConfiguration(publicUrl())} />,
              },
              {
                name: 'Claude Code',
                content: <Code title="shell" label={t.agent.command} text={mcpCommand(publicUrl())} />,
              },
            ]}
          />
          {hasAgent && (
            <p>
              {t.agent.service} <a href={urlOf('/agent')}>{t.agent.open}</a>
            </p>
          )}
        </Way>
      </div>
    </section>
  )
}

interface WayProps {
  icon: IconName
  title: string
  text: string
  children: ComponentChildren
}

function Way({ icon, title, text, children }: WayProps) {
  return (
    <article class="way">
      <h3>
        <span class="way-icon">
          <Icon name={icon} />
        </span>
        {title}
      </h3>
      <p>{text}</p>
      {children}
    </article>
  )
}

function shellCommands(gateway: string, isDevelopment: boolean): string {
  return [
    `svc config set gateway ${gateway}`,
    'svc wallet new',
    ...(isDevelopment ? ['svc faucet'] : []),
    'svc buy --name photos',
    'svc put ./photos',
    'svc attest',
    'svc bundle -o bundle.json',
    'svc verify bundle.json --dir ./photos',
  ].join('\n')
}

function mcpConfiguration(gateway: string): string {
  const paths = { SVC_WALLET: '/path/to/wallet.json', SVC_MCP_ROOT: '/path/to/project' }
  const env = { SVC_GATEWAY: gateway, ...paths, SVC_MCP_MAX_USD: '1' }
  return JSON.stringify({ mcpServers: { storage: { command: 'svc', args: ['mcp'], env } } }, null, 2)
}

function firstCall(gateway: string): string {
  return `curl ${gateway}/v1/storage/request \\\n  -H 'content-type: application/json' \\\n  -d '{"units": 1}'`
}

function mcpCommand(gateway: string): string {
  return `claude mcp add storage \\\n  --env SVC_GATEWAY=${gateway} \\\n  --env SVC_WALLET=$HOME/.config/solana/id.json \\\n  --env SVC_MCP_ROOT=$PWD \\\n  -- svc mcp`
}
