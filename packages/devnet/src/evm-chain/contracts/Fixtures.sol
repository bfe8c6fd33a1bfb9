// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A contract with the right ticker that emits any Transfer on request, and transfers nothing.
contract FakeToken {
    string public constant symbol = "USDC";
    uint8 public constant decimals = 6;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function emitTransfer(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }
}

/// Passes its native coin on: an internal transfer, visible neither in `tx.to` nor in a log.
contract Forwarder {
    function forward(address payable to) external payable {
        (bool ok,) = to.call{value: msg.value}("");
        require(ok, "forward failed");
    }
}
