# SPDX-License-Identifier: Apache-2.0
"""The front end against its definition written out term by term, and the committed expectations against PyTorch."""

import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import clips  # noqa: E402
import mfcc  # noqa: E402
import synthesize  # noqa: E402


def one_frame_by_the_definition(x, frame):
    """The ten coefficients of one frame, with sums in place of matrices and FFT."""
    n = np.arange(480)
    y = x[frame * 320 : frame * 320 + 480] / 32768 * np.sin(np.pi * n / 480) ** 2
    power = [abs(np.sum(y * np.exp(-2j * np.pi * k * n / 512))) ** 2 for k in range(257)]
    low, high = (2595 / np.log(10) * np.log(1 + f / 700) for f in (60, 7600))
    mels = [2595 / np.log(10) * np.log(1 + 31.25 * k / 700) for k in range(257)]
    logs = []
    for m in range(32):
        left, middle, right = (low + (high - low) * (m + i) / 33 for i in range(3))
        weights = [max(0, min((b - left) / (middle - left), (right - b) / (right - middle))) for b in mels]
        logs.append(np.log(np.dot(weights, power) + 1e-4))
    c = [sum(v * np.cos(np.pi * k * (2 * m + 1) / 64) for m, v in enumerate(logs)) / 4 for k in range(10)]
    c[0] /= np.sqrt(2)
    return (np.array(c) - mfcc.OFFSET) / mfcc.SPREAD


def test_features_follow_the_definition():
    rng = np.random.default_rng(3)
    t = np.arange(16000) / 16000
    x = (3000 * np.sin(2 * np.pi * 700 * t**2) + 200 * rng.normal(size=16000)).astype(np.int16)
    features = mfcc.mfcc(x)
    assert features.shape == (49, 10) and features.dtype == np.float32
    for frame in (0, 17, 48):
        np.testing.assert_allclose(features[frame], one_frame_by_the_definition(x, frame), atol=2e-5)


def test_silence_has_finite_features():
    assert np.isfinite(mfcc.mfcc(np.zeros(16000, np.int16))).all()


def test_a_clip_of_another_length_is_refused():
    with pytest.raises(ValueError, match="16000 int16 samples"):
        mfcc.mfcc(np.zeros(15999, np.int16))


def test_a_recording_at_another_rate_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(mfcc, "SAMPLE_RATE", 8000)
    clips.write_wav(tmp_path / "yes_1.wav", np.zeros(16000, np.int16))
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"yes_1.wav: .* not \(1, 2, 8000, 16000\)"):
        clips.load(tmp_path)


def test_no_voice_and_no_other_word_of_the_test_set_is_in_the_training_set():
    train, test = synthesize.TRAIN, synthesize.TEST
    assert not set(train.voices) & set(test.voices)
    assert not set(train.other_words) & set(test.other_words)
    assert not set(clips.KEYWORDS) & {*train.other_words, *test.other_words}
    assert all(c["voice"].split("+")[1] in test.voices for c in clips.expected()["clips"] if c["voice"])


def test_clips_give_the_committed_features():
    features, labels, names = clips.load()
    np.testing.assert_allclose(features, np.load(clips.CLIPS / "features.npy"), atol=1e-5)
    expected = clips.expected()
    assert names == [c["clip"] for c in expected["clips"]] and labels == [c["label"] for c in expected["clips"]]
    assert set(labels) == set(clips.LABELS) and expected["labels"] == list(clips.LABELS)


def test_the_saved_program_gives_the_committed_scores():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchao.quantization.pt2e.quantize_pt2e")
    program = torch.export.load(HERE / "kws_int8.pt2").module()
    for x, c in zip(np.load(clips.CLIPS / "features.npy"), clips.expected()["clips"], strict=True):
        scores = program(torch.from_numpy(x[None]))[0].numpy()
        # One step of 1/256: sums in float32 may round differently on another machine.
        np.testing.assert_allclose(scores, c["pytorch_scores"], atol=1 / 256)
        assert clips.LABELS[int(np.argmax(c["pytorch_scores"]))] == c["pytorch_word"]


def test_fine_tuning_gives_an_integer_program_that_still_hears():
    """Ten steps on the committed clips; the whole of it is in quantization.json."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchao.quantization.pt2e.quantize_pt2e")
    import finetune
    import rushlight

    torch.manual_seed(0)
    features, said, _ = clips.load()
    labels = np.array([clips.LABELS.index(word) for word in said])
    exported = finetune.finetuned(finetune.restored(), {"features": features, "labels": labels}, steps=10)
    program = rushlight.compile(exported)
    assert not [layer["kernel"] for layer in program.report["layers"] if "f32" in layer["kernel"]]
    before = np.mean([c["pytorch_word"] == c["label"] for c in clips.expected()["clips"]])
    assert rushlight.evaluate(program, features, labels).accuracy >= before - 0.1
    module = exported.module()
    wanted = np.stack([module(torch.from_numpy(x[None])).detach().numpy() for x in features])
    np.testing.assert_allclose(program(features), wanted, atol=4 / 256)


def test_the_committed_figures_hold_together():
    figures = json.loads((HERE / "quantization.json").read_text())
    assert set(figures["ptq"]["layer_db"]) == set(figures["qat"]["layer_db"]) and len(figures["qat"]["layer_db"]) == 10
    assert min(figures[name]["accuracy"] for name in ("float", "ptq", "qat")) > 0.9
    assert "there is no kernel for int4" in figures["int4"] and "fix:" in figures["int4"]


@pytest.mark.parametrize("name", ["kws_f32", "kws_int8"])
def test_archives_name_model_py_and_no_folder(name):
    with zipfile.ZipFile(HERE / f"{name}.pt2") as archive:
        graph = archive.read(f"{name}/models/model.json").decode()
    line = (HERE / "model.py").read_text().splitlines().index("        x = self.classifier(x)") + 1
    assert f'File \\"model.py\\", line {line}, in forward' in graph
    assert "/model.py" not in graph and "site-packages" not in graph
