import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts as t } from '#texts/wallets'
import { index } from '../gateway.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icons.tsx'
import { KeyForm } from '../ui/key-form.tsx'
import { DEMO_WALLETS } from './demo-wallet.ts'
import { watchEvmWallets } from './evm-wallets.ts'
import { watchStandardWallets } from './standard-wallets.ts'
import type { ConnectedWallet, FoundWallet, Namespace } from './wallet.ts'
import { walletProblem } from './wallet-problem.ts'
import './wallets.css'

interface ChooserProps {
  onConnected: (wallet: ConnectedWallet) => void
  /** Offers only wallets of this chain. */
  namespace?: Namespace
}

/** The wallets of this browser, a key, and in development a wallet with demo money. */
export function WalletChooser({ onConnected, namespace }: ChooserProps) {
  const standard = useSignal<FoundWallet[]>([])
  const evm = useSignal<FoundWallet[]>([])
  const busy = useSignal<FoundWallet | null>(null)
  const problem = useSignal<string | null>(null)
  useEffect(() => {
    const stops = [
      watchStandardWallets((wallets) => {
        standard.value = wallets
      }),
      watchEvmWallets((wallets) => {
        evm.value = wallets
      }),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }, [])
  const connect = async (wallet: FoundWallet) => {
    if (busy.value) return
    busy.value = wallet
    problem.value = null
    try {
      onConnected(await wallet.connect())
    } catch (error) {
      problem.value = walletProblem(error)
    } finally {
      busy.value = null
    }
  }
  const fits = (wallet: { namespace: Namespace }) => !namespace || wallet.namespace === namespace
  const wallets = [...standard.value, ...evm.value].filter(fits)
  const { value } = index.now
  const isDevelopment = value.state === 'ready' && value.value.environment === 'development'
  const isDemo = busy.value?.id.startsWith('demo')
  return (
    <div class="stack wallets">
      {isDevelopment && (
        <ul class="wallet-list" aria-label={t.demo}>
          {DEMO_WALLETS.filter(fits).map((wallet) => (
            <WalletButton key={wallet.id} wallet={wallet} busy={busy.value} note={t.demoText} onClick={connect} />
          ))}
        </ul>
      )}
      {wallets.length > 0 ? (
        <ul class="wallet-list" aria-label={t.found}>
          {wallets.map((wallet) => (
            <WalletButton key={wallet.id} wallet={wallet} busy={busy.value} onClick={connect} />
          ))}
        </ul>
      ) : (
        <p class="field-hint">{namespace ? t.noneOf[namespace] : t.none}</p>
      )}
      <div role="status">
        {busy.value && <p>{isDemo ? t.demoConnecting : t.connecting(busy.value.name)}</p>}
        {problem.value && <p class="field-error">{problem.value}</p>}
      </div>
      <KeyWallet onConnected={onConnected} {...(namespace && { namespace })} />
    </div>
  )
}

interface WalletButtonProps {
  wallet: FoundWallet
  busy: FoundWallet | null
  note?: string
  onClick: (wallet: FoundWallet) => Promise<void>
}

function WalletButton({ wallet, busy, note, onClick }: WalletButtonProps) {
  return (
    <li>
      <button
        type="button"
        class="wallet"
        aria-busy={busy?.id === wallet.id}
        disabled={busy !== null && busy.id !== wallet.id}
        onClick={() => void onClick(wallet)}
      >
        <WalletIcon icon={wallet.icon} />
        <span class="wallet-name">
          <b>
            <bdi>{wallet.name}</bdi>
          </b>
          {note && <span class="field-hint">{note}</span>}
        </span>
        <span class="pill">{t.chains[wallet.namespace]}</span>
      </button>
    </li>
  )
}

/** The icon of a wallet; empty if the picture does not load. */
export function WalletIcon({ icon }: { icon: string | null }) {
  const isBroken = useSignal(false)
  return (
    <span class="wallet-icon" aria-hidden="true">
      {icon && !isBroken.value ? (
        <img
          src={icon}
          alt=""
          width={28}
          height={28}
          onError={() => {
            isBroken.value = true
          }}
        />
      ) : (
        <Icon name="key" />
      )}
    </span>
  )
}

function KeyWallet({ onConnected, namespace }: ChooserProps) {
  const isOpen = useSignal(false)
  const problem = useSignal<string | null>(null)
  if (!isOpen.value)
    return (
      <div class="row">
        <Button
          kind="quiet"
          onClick={() => {
            isOpen.value = true
          }}
        >
          <Icon name="key" />
          {t.useKey}
        </Button>
      </div>
    )
  return (
    <div class="stack">
      <KeyForm
        onKey={async (signer, text) => {
          const { keyPayer, namespaceOf } = await import('./payers.ts')
          const own = namespaceOf(signer.address)
          problem.value = namespace && own !== namespace ? t.wrongChain[namespace] : null
          if (problem.value) return
          const paying = await keyPayer(signer, text)
          onConnected({
            name: t.keyName,
            icon: null,
            namespace: own,
            address: signer.address,
            isSilent: true,
            signer,
            ...paying,
          })
        }}
      />
      {problem.value && (
        <p class="field-error" role="alert">
          {problem.value}
        </p>
      )}
    </div>
  )
}
